/** Base URLs, without a trailing slash, of the services that have one fixed address for everyone. */
export interface ServiceUrls {
  readonly chatA: string;
  readonly smsA: string;
  readonly incidentA: string;
}

/** Defaults of the settings CHAT_A_API_URL, SMS_A_API_URL and INCIDENT_A_API_URL. */
export const DEFAULT_SERVICE_URLS: ServiceUrls = {
  chatA: 'https://slack.com',
  smsA: 'https://api.twilio.com',
  incidentA: 'https://events.pagerduty.com',
};

/** Joins a base URL of the settings, with or without a trailing slash, and an absolute path. */
export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
