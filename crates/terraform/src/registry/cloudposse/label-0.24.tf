# module: cloudposse/label/null
# versions: >= 0.24.0, < 1.0.0
# with: context.tf

variable "namespace" {
  type    = string
  default = null
}
variable "environment" {
  type    = string
  default = null
}
variable "stage" {
  type    = string
  default = null
}
variable "name" {
  type    = string
  default = null
}
variable "delimiter" {
  type    = string
  default = null
}
variable "attributes" {
  type    = list(string)
  default = []
}
variable "label_order" {
  type    = list(string)
  default = null
}
variable "regex_replace_chars" {
  type    = string
  default = null
}
variable "id_length_limit" {
  type    = number
  default = null
}
variable "label_value_case" {
  type    = string
  default = null
}
variable "tenant" {
  type    = string
  default = null
}
# They change nothing that is looked at.
variable "tags" {}
variable "labels_as_tags" {}

# What stands for what is not described.
data "external" "not_described" {}

locals {
  # A label and the context that it extends: what is set here goes before what comes with the context.
  enabled     = var.enabled == null ? try(var.context.enabled, true) : var.enabled
  namespace   = var.namespace == null ? try(var.context.namespace, null) : var.namespace
  tenant      = var.tenant == null ? try(var.context.tenant, null) : var.tenant
  environment = var.environment == null ? try(var.context.environment, null) : var.environment
  stage       = var.stage == null ? try(var.context.stage, null) : var.stage
  name        = var.name == null ? try(var.context.name, null) : var.name
  attributes  = compact(distinct(concat(try(coalesce(var.context.attributes, []), []), coalesce(var.attributes, []))))
  delimiter   = var.delimiter == null ? try(var.context.delimiter, null) : var.delimiter
  order       = var.label_order == null ? try(var.context.label_order, null) : var.label_order
  limit       = var.id_length_limit == null ? try(var.context.id_length_limit, null) : var.id_length_limit
  removed     = var.regex_replace_chars == null ? try(var.context.regex_replace_chars, null) : var.regex_replace_chars
  case        = var.label_value_case == null ? try(var.context.label_value_case, null) : var.label_value_case
  separator   = local.delimiter == null ? "-" : local.delimiter

  texts = {
    namespace   = local.namespace
    tenant      = local.tenant
    environment = local.environment
    stage       = local.stage
    name        = local.name
  }
  clean      = { for k, v in local.texts : k => v == null ? "" : replace(v, coalesce(local.removed, "/[^-a-zA-Z0-9]/"), "") }
  clean_list = distinct([for v in local.attributes : replace(v, coalesce(local.removed, "/[^-a-zA-Z0-9]/"), "")])
  cased = {
    none  = merge(local.clean, { attributes = join(local.separator, local.clean_list) })
    lower = merge({ for k, v in local.clean : k => lower(v) }, { attributes = join(local.separator, [for v in local.clean_list : lower(v)]) })
    upper = merge({ for k, v in local.clean : k => upper(v) }, { attributes = join(local.separator, [for v in local.clean_list : upper(v)]) })
    title = merge({ for k, v in local.clean : k => title(lower(v)) }, { attributes = join(local.separator, [for v in local.clean_list : title(lower(v))]) })
  }
  labels = local.cased[local.case == null ? "lower" : local.case]
  parts  = [for k in coalescelist(local.order == null ? [] : local.order, ["namespace", "environment", "stage", "name", "attributes"]) : local.labels[k] if length(local.labels[k]) > 0]
  full   = join(local.separator, local.parts)
  # Cut with a hash at its end.
  id = (local.limit == null ? 0 : local.limit) != 0 && length(local.full) > (local.limit == null ? 0 : local.limit) ? data.external.not_described.result : local.full
}

output "id" {
  value = local.enabled ? local.id : ""
}
output "id_full" {
  value = local.enabled ? local.full : ""
}
output "enabled" {
  value = local.enabled
}
output "namespace" {
  value = local.enabled ? local.labels["namespace"] : ""
}
output "tenant" {
  value = local.enabled ? local.labels["tenant"] : ""
}
output "environment" {
  value = local.enabled ? local.labels["environment"] : ""
}
output "stage" {
  value = local.enabled ? local.labels["stage"] : ""
}
output "name" {
  value = local.enabled ? local.labels["name"] : ""
}
output "delimiter" {
  value = local.enabled ? local.separator : ""
}
output "tags" {
  value = data.external.not_described.result
}
output "context" {
  value = {
    enabled             = local.enabled
    namespace           = local.namespace
    tenant              = local.tenant
    environment         = local.environment
    stage               = local.stage
    name                = local.name
    attributes          = local.attributes
    delimiter           = local.delimiter
    label_order         = local.order
    id_length_limit     = local.limit
    regex_replace_chars = local.removed
    label_value_case    = local.case
  }
}
output "attributes" {
  value = data.external.not_described.result
}
output "additional_tag_map" {
  value = data.external.not_described.result
}
output "label_order" {
  value = data.external.not_described.result
}
output "regex_replace_chars" {
  value = data.external.not_described.result
}
output "id_length_limit" {
  value = data.external.not_described.result
}
output "tags_as_list_of_maps" {
  value = data.external.not_described.result
}
output "descriptors" {
  value = data.external.not_described.result
}
output "normalized_context" {
  value = data.external.not_described.result
}
