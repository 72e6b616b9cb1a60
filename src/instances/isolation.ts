/** Kinds of isolation of runs from the installation; empty if unknown. */
export const ISOLATIONS = [
  ['', 'Unknown'],
  ['bubblewrap', 'Bubblewrap'],
  ['container', 'Container'],
  ['none', 'None'],
] as const;

/** Warning in every status display of an installation without isolation. */
export const NOT_ISOLATED =
  "Runs are not isolated: playbooks can read this installation's secrets.";
