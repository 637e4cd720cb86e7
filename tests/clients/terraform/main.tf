# What Terraform defines on the port: each kind of resource that the local Glue keeps.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}

provider "aws" {
  s3_use_path_style = true
  default_tags {
    tags = { owner = "all" }
  }
}

variable "team" {
  default = "data"
}

locals {
  role   = "arn:aws:iam::${data.aws_caller_identity.current.account_id}:role/anyone"
  script = "s3://${aws_s3_bucket.lake.id}/${aws_s3_object.script.key}"
}

data "aws_caller_identity" "current" {}

resource "aws_s3_bucket" "lake" {
  bucket = "of-terraform"
}

resource "aws_s3_object" "script" {
  bucket  = aws_s3_bucket.lake.id
  key     = "jobs/load é.py"
  content = "print('of terraform')\n"
  tags    = { team = var.team }
}

resource "aws_glue_catalog_database" "sales" {
  name        = "of_terraform"
  description = var.team
  tags        = { team = var.team }
}

resource "aws_glue_catalog_table" "orders" {
  name          = "orders"
  database_name = aws_glue_catalog_database.sales.name
  parameters    = { classification = "json", team = var.team }
  storage_descriptor {
    location = "s3://${aws_s3_bucket.lake.id}/orders/"
    columns {
      name = "id"
      type = "bigint"
    }
  }
  partition_keys {
    name = "day"
    type = "string"
  }
}

resource "aws_glue_partition" "day" {
  database_name    = aws_glue_catalog_database.sales.name
  table_name       = aws_glue_catalog_table.orders.name
  partition_values = ["2026-01-01"]
  storage_descriptor {
    location = "s3://${aws_s3_bucket.lake.id}/orders/day=2026-01-01/"
    columns {
      name = "id"
      type = "bigint"
    }
  }
}

resource "aws_glue_connection" "shop" {
  name = "of-terraform"
  tags = { team = var.team }
  connection_properties = {
    JDBC_CONNECTION_URL = "jdbc:postgresql://localhost/${var.team}"
    USERNAME            = "reader"
    PASSWORD            = "secret"
  }
}

resource "aws_glue_security_configuration" "none" {
  name = "of-terraform"
  encryption_configuration {
    cloudwatch_encryption {
      cloudwatch_encryption_mode = "DISABLED"
    }
    job_bookmarks_encryption {
      job_bookmarks_encryption_mode = "DISABLED"
    }
    s3_encryption {
      s3_encryption_mode = "DISABLED"
    }
  }
}

resource "aws_glue_job" "load" {
  for_each     = toset(["first", "second"])
  name         = "of-terraform-${each.key}"
  role_arn     = local.role
  max_capacity = 0.0625
  command {
    name            = "pythonshell"
    python_version  = "3.9"
    script_location = local.script
  }
  default_arguments = { "--team" = var.team }
  tags              = { team = var.team }
}

resource "aws_glue_job" "spark" {
  name              = "of-terraform-spark"
  role_arn          = local.role
  glue_version      = "5.0"
  worker_type       = "G.1X"
  number_of_workers = 2
  command {
    script_location = local.script
  }
  default_arguments = { "--job-bookmark-option" = "job-bookmark-enable" }
}

resource "aws_glue_workflow" "daily" {
  name                   = "of-terraform"
  default_run_properties = { team = var.team }
  tags                   = { team = var.team }
}

resource "aws_glue_trigger" "begin" {
  name          = "of-terraform-begin"
  type          = "ON_DEMAND"
  workflow_name = aws_glue_workflow.daily.name
  actions {
    job_name = aws_glue_job.load["first"].name
  }
}

resource "aws_glue_trigger" "next" {
  name          = "of-terraform-next"
  type          = "CONDITIONAL"
  workflow_name = aws_glue_workflow.daily.name
  predicate {
    conditions {
      job_name = aws_glue_job.load["first"].name
      state    = "SUCCEEDED"
    }
  }
  actions {
    job_name  = aws_glue_job.load["second"].name
    arguments = { "--team" = var.team }
  }
}

resource "aws_glue_trigger" "nightly" {
  name     = "of-terraform-nightly"
  type     = "SCHEDULED"
  schedule = "cron(15 3 * * ? *)"
  enabled  = false
  tags     = { team = var.team }
  actions {
    job_name = aws_glue_job.spark.name
  }
}

resource "aws_cloudwatch_event_rule" "closed" {
  name          = "of-terraform"
  event_pattern = jsonencode({ source = ["acme.${var.team}"] })
  tags          = { team = var.team }
}

resource "aws_cloudwatch_event_target" "daily" {
  rule     = aws_cloudwatch_event_rule.closed.name
  arn      = aws_glue_workflow.daily.arn
  role_arn = local.role
}

resource "aws_dynamodb_table" "watermarks" {
  name         = "of-terraform"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
  tags = { team = var.team }
}
