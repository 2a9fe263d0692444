module "orders" {
  source = "git::https://example.com/modules//sqs?ref=v1"
  name   = "orders"
}

module "worker" {
  source   = "git::https://example.com/modules//lambda?ref=v1"
  mappings = { orders = module.orders.arn }
}
