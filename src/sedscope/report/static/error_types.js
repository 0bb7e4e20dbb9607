// The words for error types of references and detections.

const ERROR_TYPE_NAMES = {
  found: "found", true: "true", missed: "missed", fragmented: "fragmented", fragment: "fragment",
  merged: "merged", too_long: "too long", too_short: "too short", onset: "wrong onset", offset: "wrong offset",
  cross_trigger: "cross-trigger", background: "background", ignored: "ignored",
};

export function errorTypeName(type) {
  return ERROR_TYPE_NAMES[type];
}

// Whether an event of this type is right, or at least no error.
export function isRight(type) {
  return type === "found" || type === "true" || type === "ignored";
}
