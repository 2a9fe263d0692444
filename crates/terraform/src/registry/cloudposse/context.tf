# What several descriptions hold.

variable "context" {
  default = {
    enabled             = true
    namespace           = null
    tenant              = null
    environment         = null
    stage               = null
    name                = null
    delimiter           = null
    attributes          = []
    tags                = {}
    additional_tag_map  = {}
    regex_replace_chars = null
    label_order         = []
    id_length_limit     = null
    label_key_case      = null
    label_value_case    = null
    descriptor_formats  = {}
    labels_as_tags      = ["unset"]
  }
}
variable "enabled" {
  type    = bool
  default = null
}
variable "additional_tag_map" {}
variable "label_key_case" {}
variable "descriptor_formats" {}
