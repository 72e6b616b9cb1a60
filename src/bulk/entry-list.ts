import { Invalid } from '../common/errors/errors.js';

/** @throws Invalid naming the setting, what was sent and what is allowed; exactly the limit passes */
export function assertWithin(noun: string, count: number, setting: string, limit: number): void {
  if (count <= limit) return;
  throw Invalid.all(
    `Number of ${noun} exceeds system setting ${setting}: ${count} sent, ${limit} allowed.`,
  );
}
