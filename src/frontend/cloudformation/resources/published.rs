//! Publishes the outputs of a template for units of any dialect, by their export names and by the name of the stack.

use super::view::{CloudFormation, TemplateValue};
use crate::frontend::lower::Lowering;
use crate::graph::{Attribute, Common, Resource, UnitId};
use std::sync::Arc;

impl Lowering<CloudFormation<'_, '_>> {
    pub(super) fn publish_outputs(&mut self) {
        let template = self.view.template;
        let of_service = || template.service.and_then(|service| service.region.clone());
        let region = template.pseudo_parameter("AWS::Region").or_else(of_service);
        for output in template.outputs {
            let Some(value) = output.value.get("Value") else {
                continue;
            };
            let names = template.published_names(output);
            if names.is_empty() {
                continue;
            }
            let exists = template.existence_of_output(output);
            let (header, address) = (output.span(), format!("Outputs.{}", output.key));
            let outcomes = template.eval(value, header, &exists);
            let written = TemplateValue::resource(outcomes, header, exists.clone(), false);
            let value = self.link_of("Value", &written);
            let resource = Resource {
                unit: UnitId(0),
                address: address.into(),
                header,
                when: exists,
                common: Arc::new(Common {
                    region: region.clone(),
                    ..Common::of_kind("Output")
                }),
            };
            for (store, name) in names {
                let name = Attribute::set("Name", Some(name), header);
                self.publish(resource.clone(), store, name, value.clone());
            }
        }
    }
}
