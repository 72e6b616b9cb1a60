/** The metrics of one process, as prom-client gives and adds them up. */
export type Metrics = object[];

/** What a member of a process group says to the process that forked it. */
export type MemberMessage =
  | { says: 'take'; id: number; key: string; most: number }
  | { says: 'free'; key: string }
  | { says: 'gather'; id: number }
  | { says: 'measured'; id: number; metrics: Metrics };

/** What a member is told. */
export type GroupMessage =
  | { says: 'taken'; id: number; isTaken: boolean }
  | { says: 'measure'; id: number }
  | { says: 'gathered'; id: number; metrics: Metrics[] };

const isOurs = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'says' in message;

/** Libraries use the same pipe; what has our mark was sent by this program. */
export const isMemberMessage = (message: unknown): message is MemberMessage => isOurs(message);
export const isGroupMessage = (message: unknown): message is GroupMessage => isOurs(message);
