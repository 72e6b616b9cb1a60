import type { Extension, RepresentContext, Row } from '../common/resource/define-resource.js';

export async function inventoryExtension(
  _rows: readonly Row[],
  _context: RepresentContext,
): Promise<Map<number, Extension>> {
  return new Map();
}

export async function hostExtension(
  _rows: readonly Row[],
  _context: RepresentContext,
): Promise<Map<number, Extension>> {
  return new Map();
}

export async function groupExtension(
  _rows: readonly Row[],
  _context: RepresentContext,
): Promise<Map<number, Extension>> {
  return new Map();
}
