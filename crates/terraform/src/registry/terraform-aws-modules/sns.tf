# What several descriptions hold.

variable "name" {
  type    = string
  default = null
}
variable "delivery_policy" {
  type    = string
  default = null
}
variable "kms_master_key_id" {
  type    = string
  default = null
}
variable "fifo_topic" {
  type    = bool
  default = false
}
variable "content_based_deduplication" {
  type    = bool
  default = false
}
