/** The nine channels, in the order of the contract. */
export const NOTIFICATION_TYPES = [
  'email',
  'chat_a',
  'sms_a',
  'incident_a',
  'webhook',
  'chat_b',
  'chat_c',
  'irc',
  'dashboard_a',
] as const;

export type NotificationType = (typeof NOTIFICATION_TYPES)[number];
