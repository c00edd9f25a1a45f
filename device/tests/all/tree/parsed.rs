//! A tree as each of two parsers reads it.

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};

/// A node with all that is in it, in the order of the blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Its name with its address.
    pub(super) full_name: String,
    /// Names and values of its properties.
    pub(super) properties: Vec<(String, Vec<u8>)>,
    /// The nodes in it.
    pub(super) children: Vec<Node>,
}

impl Node {
    /// Its name without its address.
    pub(super) fn name(&self) -> &str {
        self.full_name.split('@').next().unwrap()
    }

    pub(super) fn property(&self, name: &str) -> Option<&[u8]> {
        self.properties.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_slice())
    }

    /// The child with this name and address.
    pub(super) fn child(&self, full_name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.full_name == full_name)
    }

    /// It and every node below it, in the order of the blob.
    pub(super) fn all(&self) -> Vec<&Node> {
        std::iter::once(self).chain(self.children.iter().flat_map(Node::all)).collect()
    }
}

fn from_dtoolkit(node: &FdtNode<'_>) -> Node {
    Node {
        full_name: node.name().to_string(),
        properties: node.properties().map(|property| (property.name().to_string(), property.value().to_vec())).collect(),
        children: node.children().map(|child| from_dtoolkit(&child)).collect(),
    }
}

fn from_device_tree(node: &device_tree::Node) -> Node {
    Node { full_name: node.name.clone(), properties: node.props.clone(), children: node.children.iter().map(from_device_tree).collect() }
}

/// The root. Both parsers must take the blob and agree on all that is in it.
pub(super) fn parse(blob: &[u8]) -> Node {
    let one = from_dtoolkit(&Fdt::new(blob).unwrap().root());
    let other = from_device_tree(&device_tree::DeviceTree::load(blob).unwrap().root);
    assert_eq!(one, other);
    one
}
