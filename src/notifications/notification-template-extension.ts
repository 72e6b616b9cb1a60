import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';

export async function notificationTemplateExtension(
  _rows: readonly Row[],
  _context: RepresentContext,
): Promise<Map<number, Extension>> {
  return new Map();
}
