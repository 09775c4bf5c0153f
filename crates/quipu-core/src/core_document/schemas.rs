//! The built-in categories.

/// Holds categories that can be added without a schema.
pub(crate) const DYNAMIC: &str = "dynamicCategories";
/// Holds members without a category.
pub(crate) const UNCATEGORIZED: &str = "uncategorized";
/// Metadata added when the document is shown; never stored.
pub(crate) const META: &str = "_meta";

/// Name and JSON Schema of each category.
pub(super) const DEFAULT: [(&str, &str); 14] = [
    ("identity", include_str!("../../schema/identity.json")),
    ("location", include_str!("../../schema/location.json")),
    ("relationships", include_str!("../../schema/relationships.json")),
    ("work", include_str!("../../schema/work.json")),
    ("education", include_str!("../../schema/education.json")),
    ("preferences", include_str!("../../schema/preferences.json")),
    ("dietaryProfile", include_str!("../../schema/dietaryProfile.json")),
    ("healthProfile", include_str!("../../schema/healthProfile.json")),
    ("activityProfile", include_str!("../../schema/activityProfile.json")),
    ("finance", include_str!("../../schema/finance.json")),
    ("devices", include_str!("../../schema/devices.json")),
    ("schedule", include_str!("../../schema/schedule.json")),
    (DYNAMIC, include_str!("../../schema/dynamicCategories.json")),
    (UNCATEGORIZED, include_str!("../../schema/uncategorized.json")),
];
