import { ui } from './setting.js';

/** Data URL of an image type that browsers display and that cannot contain a script. Group 2: the data. */
export const LOGO_URL =
  /^data:(image\/(?:png|jpeg|gif));base64,((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** Settings of the pages. */
export const UI_SETTINGS = {
  CUSTOM_LOGIN_INFO: ui.string({
    default: '',
    runtime: true,
    help: 'Text above the login form, such as a notice or a contact for new accounts.',
  }),
  CUSTOM_LOGO: ui.string({
    default: '',
    runtime: true,
    max: 200_000,
    fault: (value) =>
      value === '' || LOGO_URL.test(value)
        ? null
        : 'Invalid format for custom logo. Must be a data URL with a base64-encoded GIF, PNG or JPEG image.',
    help: 'Logo in the header of all pages, the login page among them: a data URL with a base64-encoded GIF, PNG or JPEG image.',
  }),
  MAX_UI_JOB_EVENTS: ui.integer({
    default: 4000,
    min: 100,
    runtime: true,
    help: 'Maximum number of events of a run that a client loads, sent in the header X-UI-Max-Events. The page of a run shows 500, or this number if it is smaller.',
  }),
  UI_LIVE_UPDATES_ENABLED: ui.boolean({
    default: true,
    runtime: true,
    help: 'Update the dashboard and the pages of active runs automatically. If false, users reload the pages.',
  }),
};
