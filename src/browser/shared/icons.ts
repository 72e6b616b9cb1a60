import { html, type Html } from './html.js';

/** Outlines on a grid of 24 by 24, by the kind of object or control. */
const OUTLINES = {
  // Themes
  auto: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM12 3v18M15 4v16M18 6v12',
  light:
    'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19',
  dark: 'M20 14A8.5 8.5 0 1 1 10 4a7 7 0 0 0 10 10z',
  // Kinds and controls
  activity: 'M3 12h4l3-7 4 14 3-7h4',
  application: 'M4 5h16v14H4zM4 9h16M7 7h.01',
  approval: 'M4 4h16v16H4zM8 12l3 3 5-6',
  authenticator: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  cancel: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM9 9l6 6M15 9l-6 6',
  copy: 'M8 8h12v12H8zM4 16V4h12',
  credential: 'M12 15.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0zM10.7 12.3 20 3M16 7l3 3',
  dashboard: 'M4 11l8-7 8 7v9H4zM10 20v-6h4v6',
  environment: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  host: 'M3 5h18v11H3zM8 20h8M12 16v4',
  instance: 'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
  instanceGroup: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  inventory: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  job: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM10 8.5l5.5 3.5-5.5 3.5z',
  menu: 'M4 6h16M4 12h16M4 18h16',
  notification: 'M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  organization: 'M5 21V4h9v17M14 9h5v12M3 21h18M8 8h3M8 12h3M8 16h3',
  project: 'M3 6h6l2 2h10v11H3z',
  relaunch: 'M4 12a8 8 0 1 1 2.5 5.8M4 20v-5h5',
  schedule: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM12 7v5l3 2',
  settings: 'M4 7h9M17 7h3M13 4.5v5M4 17h3M11 17h9M11 14.5v5',
  team: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.5c2 .8 3 2.7 3 5.5',
  template: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  user: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4.5 3-7 8-7s8 2.5 8 7',
  webhook: 'M3 12h11M10 8l4 4-4 4M19 4v16',
  workflow: 'M4 4h6v5H4zM14 15h6v5h-6zM7 9v8.5h7',
} as const;
export type IconName = keyof typeof OUTLINES;

/** Renders an icon in the color of the text, hidden from screen readers. */
export const icon = (name: IconName): Html =>
  html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
    <path d="${OUTLINES[name]}" />
  </svg>`;
