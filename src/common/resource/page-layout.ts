import type { Sql } from '../../database/sql.js';

/** Arrangement of a resource's fields on all pages: details, forms and lists. */
export interface PageLayout {
  /** Texts of the page that lists the objects. */
  list?: {
    /** Heading, if the path is not a readable name. */
    title?: string;
    about: string;
  };
  /** Link of an empty list without an add form: its text, and the list that it opens. */
  emptyLink?: { readonly text: string; readonly list: string };
  /** Kind of an object, which forms with several choices show next to the object's name. */
  kind?: (alias: string) => Sql;
  /** Order of lists that pages link to, if it differs from the order of the API. */
  linkedOrder?: string;
  /**
   * Fields by heading, in order. Fields without a heading come first, in the order of the schema.
   */
  sections?: Readonly<Record<string, readonly string[]>>;
  /** Switches that forms show next to another field, by the name of that field. */
  beside?: Readonly<Record<string, string>>;
  /** Headings that are always expanded in forms. */
  unfolded?: readonly string[];
  /** Headings that are collapsed on the page of an object. */
  folded?: readonly string[];
  /** Columns of lists, in order; if absent, the kinds of the fields determine the columns. */
  columns?: readonly string[];
  /**
   * Reference to the parent that breadcrumbs show, if the parent is neither `auditParent` nor the
   * organization in which the name is unique.
   */
  within?: string;
}

/** Returns the fields that the sections, the columns and `within` of a layout name. */
export const layoutNames = ({
  sections = {},
  columns = [],
  within,
}: PageLayout): readonly string[] => [
  ...Object.values(sections).flat(),
  ...columns,
  ...(within === undefined ? [] : [within]),
];
