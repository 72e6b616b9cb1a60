import type { PageLayout } from '../../common/resource/page-layout.js';

/** Parts of a page or form with a common heading. */
export interface Section<Part> {
  /** Heading; empty for the first section. */
  title: string;
  parts: readonly Part[];
}

/** Groups parts by the sections of a layout; omits empty sections. */
export function inSections<Part>(
  { sections = {} }: PageLayout,
  parts: readonly Part[],
  nameOf: (part: Part) => string,
): Section<Part>[] {
  const byName = new Map(parts.map((part) => [nameOf(part), part]));
  const named = new Set(Object.values(sections).flat());
  const first = parts.filter((part) => !named.has(nameOf(part)));
  const others = Object.entries(sections).map(([title, names]) => ({
    title,
    parts: names.flatMap((name) => byName.get(name) ?? []),
  }));
  return [{ title: '', parts: first }, ...others].filter((section) => section.parts.length > 0);
}
