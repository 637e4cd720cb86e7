"""What was rewound on this machine, and a rewind that has not come to its end."""
