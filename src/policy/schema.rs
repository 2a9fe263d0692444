//! Lists the fields and functions available to expressions, for `sqslint graph --schema`.

use super::Target;
use super::code::Function;
use super::syntax::Macro;
use super::types::ObjectType;

/// Returns every object with its fields, and every function, one per line.
pub fn schema() -> String {
    let mut text = String::from("A policy is for one of these, and its expressions call the object by this name:\n\n");
    for target in Target::ALL {
        text += &format!("  {:<20}{}\n", target.name(), target.object().name());
    }
    text += "\nBeside it there are\n\n";
    text += "  unit                the unit that declares the object\n";
    text += "  environment         the name of the environment that is judged, null without any (string)\n";
    for object in ObjectType::ALL {
        text += &format!("\n{}\n", object.name());
        for field in object.fields() {
            let kind = field.kind.to_string() + if field.is_optional { " or null" } else { "" };
            text += &format!("  .{:<27}  {kind}\n      {}\n", field.name, field.summary);
        }
    }
    text += "\nfunctions\n";
    for function in Function::ALL {
        text += &format!("  {:<30} {}\n", function.form(), function.result());
    }
    text += "\nmacros over lists, and over the keys of maps\n";
    for (name, _) in Macro::ALL {
        text += &format!("  list.{name}(each, …)\n");
    }
    text += "  has(object.field)\n";
    text
}
