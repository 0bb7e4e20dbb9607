// The words for error types of references and detections.

const ERROR_TYPE_NAMES = {
  found: "found", true: "true", missed: "missed", fragmented: "fragmented", fragment: "fragment",
  merged: "merged", too_long: "too long", too_short: "too short", onset: "wrong onset", offset: "wrong offset",
  cross_trigger: "cross-trigger", background: "background", ignored: "ignored",
};

export function errorTypeName(type) {
  return ERROR_TYPE_NAMES[type];
}

// The text for errors to list: a type of references and one of detections, either of which may be null.
export function errorPair(references, detections) {
  return `${references ?? ""}/${detections ?? ""}`;
}

// What it was made from; null for a text that is none.
export function errorPairTypes(text) {
  const [references, detections] = text.split("/").map((type) => type || null);
  return detections === undefined ? null : { references, detections };
}

export function errorPairName({ references, detections }) {
  const names = [references && `${errorTypeName(references)} (references)`,
    detections && `${errorTypeName(detections)} (detections)`];
  return names.filter(Boolean).join(" or ");
}

// Whether an event of this type is right, or at least no error.
export function isRight(type) {
  return type === "found" || type === "true" || type === "ignored";
}
