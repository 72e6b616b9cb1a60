/** `job_tags` as people write it: "Job tags". */
export const labelOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
