//! Texts of the guest, made harmless.

use serde_json::Value;

/// Text within HTML. What is not to be seen is a dot.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter if letter.is_control() => safe.push('.'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A label of a chart, of at most `most` characters: plotly.js reads some marks of HTML, and entities.
pub(super) fn label(text: &str, most: usize) -> String {
    let short =
        if text.chars().count() > most { text.chars().take(most.saturating_sub(1)).chain(['…']).collect() } else { text.to_owned() };
    // It also fills in what stands between these.
    escaped(&short).replace("%{", "%\u{200b}{")
}

/// JSON that may stand in an element of a script: nothing in it ends the element or begins a comment.
pub(super) fn embedded(value: &Value) -> String {
    // Outside of its strings JSON has none of these.
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_text() {
        assert_eq!(escaped("</script><b title='x'>&\u{7}"), "&lt;/script&gt;&lt;b title=&#39;x&#39;&gt;&amp;.");
        assert_eq!(label("<b>bold</b>", 6), "&lt;b&gt;bo…");
        assert_eq!(label("a%{x}", 9), "a%\u{200b}{x}");
    }

    #[test]
    fn data_does_not_end_its_element() {
        let value = Value::from("</script><!--");
        assert_eq!(embedded(&value), "\"\\u003c/script\\u003e\\u003c!--\"");
        assert_eq!(serde_json::from_str::<Value>(&embedded(&value)).unwrap(), value);
    }
}
