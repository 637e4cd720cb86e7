"""Security configurations, by boto3."""

from __future__ import annotations

import pytest

ENCRYPTION = {
    "S3Encryption": [{"S3EncryptionMode": "SSE-KMS", "KmsKeyArn": "arn:aws:kms:::key/k"}],
    "CloudWatchEncryption": {"CloudWatchEncryptionMode": "DISABLED"},
    "JobBookmarksEncryption": {"JobBookmarksEncryptionMode": "CSE-KMS"},
}


def test_they_are_defined_listed_and_deleted(port):
    glue = port.glue
    created = {
        name: glue.create_security_configuration(Name=name, EncryptionConfiguration=ENCRYPTION)
        for name in ("secured", "other é")
    }

    found = glue.get_security_configuration(Name="secured")["SecurityConfiguration"]
    pages = glue.get_paginator("get_security_configurations").paginate(
        PaginationConfig={"PageSize": 1}
    )

    assert found["EncryptionConfiguration"] == ENCRYPTION
    assert found["CreatedTimeStamp"] == created["secured"]["CreatedTimestamp"]
    names = [one["Name"] for page in pages for one in page["SecurityConfigurations"]]
    assert names == ["other é", "secured"]
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_security_configuration(Name="secured", EncryptionConfiguration={})
    glue.delete_security_configuration(Name="secured")
    for call in (glue.get_security_configuration, glue.delete_security_configuration):
        with pytest.raises(glue.exceptions.EntityNotFoundException, match="'secured'"):
            call(Name="secured")


def test_one_that_cannot_be_is_refused(port):
    wrong = {"CloudWatchEncryption": {"CloudWatchEncryptionMode": "MAYBE"}}

    with pytest.raises(port.glue.exceptions.InvalidInputException, match="DISABLED"):
        port.glue.create_security_configuration(Name="wrong", EncryptionConfiguration=wrong)


def test_none_has_tags(port):
    arn = "arn:aws:glue:us-east-1:000000000000:security-configuration/none"

    with pytest.raises(port.glue.exceptions.InvalidInputException, match="job, trigger, workflow"):
        port.glue.get_tags(ResourceArn=arn)
