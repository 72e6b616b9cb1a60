/** Returns the display name of a field: "Job tags" for `job_tags`. */
export const labelOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Returns the name of a type of objects: `Job Template` for `job_template`. */
export const titleOf = (type: string): string =>
  type.replaceAll('_', ' ').replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
