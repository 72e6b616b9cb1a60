/** Returns the display name of a field: "Job tags" for `job_tags`. */
export const labelOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

/** Returns the name of a type of objects: `Job Template` for `job_template`. */
export const titleOf = (type: string): string =>
  type.replaceAll('_', ' ').replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Returns the words of a name for a path or a folder: `gross & klein` is `gross-klein`. */
export const slugOf = (name: string, separator: string, max: number): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  return words
    .join(separator)
    .slice(0, max)
    .replace(/[^a-z0-9]$/, '');
};
