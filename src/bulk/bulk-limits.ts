import { Invalid } from '../common/errors/errors.js';

/** @throws Invalid with the setting, the count and the limit if the count exceeds the limit */
export function assertWithin(noun: string, count: number, setting: string, limit: number): void {
  if (count <= limit) return;
  throw Invalid.all(
    `Number of ${noun} exceeds system setting ${setting}: ${count} sent, ${limit} allowed.`,
  );
}
