import type { Sql } from '../../database/sql.js';

/** Arrangement of a resource's fields on all pages: details, forms and lists. */
export interface PageLayout {
  /** Texts of the page that lists the objects. */
  list?: {
    /** Heading, where the path is no word for people. */
    title?: string;
    about: string;
  };
  /** The way to the first object, where the list has no form for it: a text, and the list it leads to. */
  begins?: { readonly text: string; readonly list: string };
  /** Kind of an object, which forms with several choices show beside its name. */
  kind?: (alias: string) => Sql;
  /** The order of lists that pages link to, where it is not that of the API. */
  linkedOrder?: string;
  /**
   * Fields by heading, in order. Fields without a heading come first, in the order of the schema.
   */
  sections?: Readonly<Record<string, readonly string[]>>;
  /** Switches that forms show beside another field, by that field. */
  beside?: Readonly<Record<string, string>>;
  /** Headings that are always open in forms. */
  unfolded?: readonly string[];
  /** Headings that are folded on the page of an object. */
  folded?: readonly string[];
  /** Columns of lists, in order; without them the kinds of the fields decide. */
  columns?: readonly string[];
  /**
   * The reference to the parent that breadcrumbs show, where it is neither `auditParent` nor the
   * organization that the name is unique in.
   */
  within?: string;
}

/** Returns all fields that a layout names. */
export const layoutNames = ({
  sections = {},
  columns = [],
  within,
}: PageLayout): readonly string[] => [
  ...Object.values(sections).flat(),
  ...columns,
  ...(within === undefined ? [] : [within]),
];
