/** What may keep runs apart from the installation; empty where it is not known. */
export const ISOLATIONS = [
  ['', 'Unknown'],
  ['bubblewrap', 'Bubblewrap'],
  ['container', 'Container'],
  ['none', 'None'],
] as const;

/** Said wherever somebody asks how the installation does. */
export const NOT_ISOLATED =
  "Runs are not isolated: playbooks can read this installation's secrets.";
