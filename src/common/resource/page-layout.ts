/** How the pages of a resource arrange its fields: details, forms and lists alike. */
export interface PageLayout {
  /** What people find in the list of all of them. */
  list?: {
    /** What they call it, where its path says it for programs. */
    title?: string;
    about: string;
    /** How the first comes about, where no form of the list makes it. */
    begins?: string;
  };
  /** The order in which links of pages ask for lists of them, where it is not that of the API. */
  linkedOrder?: string;
  /**
   * Fields by the heading they stand under, in order. What is named nowhere stands first, without a
   * heading, in the order of the schema.
   */
  sections?: Readonly<Record<string, readonly string[]>>;
  /** Headings that stand open in every form: what is below them makes the object what it is. */
  unfolded?: readonly string[];
  /** Headings that are folded among the details of an object: what is below them is seldom asked for. */
  folded?: readonly string[];
  /** Columns of lists, in order; chosen by what the fields are unless they are named. */
  columns?: readonly string[];
  /**
   * The reference to what an object is a part of, for the way to its page, where it is neither what
   * changes of it are told with nor the organization that its name is unique in.
   */
  within?: string;
}

/** Every field that a layout names. */
export const layoutNames = ({
  sections = {},
  columns = [],
  within,
}: PageLayout): readonly string[] => [
  ...Object.values(sections).flat(),
  ...columns,
  ...(within === undefined ? [] : [within]),
];

/** Some of the fields of a resource, and the heading they stand under. */
export interface Section<Part> {
  /** Empty for what comes first. */
  title: string;
  parts: readonly Part[];
}

/** Puts what a page shows of fields under the headings of their layout; headings without any are left out. */
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
