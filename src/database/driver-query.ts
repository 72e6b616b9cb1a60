import pg, {
  type Connection,
  type FieldDef,
  type Pool,
  type PoolClient,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import { arrayLiteral } from './array-literal.js';
import { blankOf } from './blank.js';

/** A statement as PostgreSQL takes it; prepared where it has a name. */
export interface Question {
  text: string;
  values?: unknown[];
  name?: string;
}

type Reader = (text: string) => unknown;

/** What the rows of a statement are made of. */
interface Layout {
  names: readonly string[];
  /** What makes a value of its text; null where it stays a text. */
  readers: readonly (Reader | null)[];
  /** A row without values, to be copied and filled. */
  empty: QueryResultRow;
}

declare module 'pg' {
  /** What the client calls of a query besides what is told of it. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- the same as those of the class
  interface Query<R, I> {
    name: string | undefined;
    /** Of the statement that is answered: a text may hold several. */
    _result: QueryResult & { _types: { getTypeParser(type: number): Reader } };
    _canceledDueToError: unknown;
    _checkForMultirow(): void;
    hasBeenParsed(connection: Connection): boolean;
    prepare(connection: Connection): void;
    handleRowDescription(message: { fields: FieldDef[] }): void;
    handleDataRow(message: { fields: readonly (string | null)[] }): void;
    handleCommandComplete(message: object, connection: Connection): void;
  }
}

/** Layouts of the statements that a connection has prepared and answered, by their names. */
const layouts = new WeakMap<Connection, Map<string, Layout>>();
/** Connections as who asks nothing of the columns of a statement sees them. */
const undescribing = new WeakMap<Connection, Connection>();

/** Asks PostgreSQL, by a connection of the pool or by one that is held. */
export const ask = <Row extends QueryResultRow>(
  of: Pick<Pool | PoolClient, 'query'>,
  question: Question,
): Promise<QueryResult<Row>> =>
  new Promise<QueryResult<Row>>((resolve, reject) => {
    const take = (error: Error | null | undefined, result: QueryResult<Row>): void => {
      if (error) reject(error);
      else resolve(result);
    };
    Reflect.apply(of.query, of, [new DriverQuery(question), take]);
  }).catch((error: Error) => {
    // It was made where bytes arrived; who asked is what matters.
    Error.captureStackTrace(error);
    throw error;
  });

/**
 * A statement on its way. Of those that are prepared PostgreSQL tells once a connection what their rows are
 * made of, where the driver asks each time
 * (docs/decisions/0120-driver-queries.md).
 */
class DriverQuery extends pg.Query {
  private layout: Layout | undefined;
  private known: Map<string, Layout> | undefined;

  constructor({ text, values, name }: Question) {
    super(text, values?.map(parameterOf));
    this.name = name;
  }

  override prepare(connection: Connection): void {
    if (this.name === undefined) return super.prepare(connection);
    this.known = memberOf(layouts, connection, () => new Map<string, Layout>());
    if (this.hasBeenParsed(connection)) this.layout = this.known.get(this.name);
    super.prepare(this.layout ? memberOf(undescribing, connection, withoutDescribing) : connection);
  }

  override handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this._checkForMultirow();
    const { _types: types } = this._result;
    this.learn({
      names: fields.map(({ name }) => name),
      readers: fields.map(({ dataTypeID: type }) =>
        TEXTS.has(type) ? null : types.getTypeParser(type),
      ),
      empty: blankOf(fields.map(({ name }) => name)),
    });
  }

  override handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (!this.layout || this._canceledDueToError) return;
    try {
      this._result.rows.push(rowOf(this.layout, fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  override handleCommandComplete(message: object, connection: Connection): void {
    if (!this.layout) this.learn(NO_ROWS);
    super.handleCommandComplete(message, connection);
  }

  private learn(layout: Layout): void {
    this.layout = layout;
    if (this.name !== undefined) this.known?.set(this.name, layout);
  }
}

const NO_ROWS: Layout = { names: [], readers: [], empty: {} };

/** Types whose values are the texts they come as: `text` and `varchar`. */
const TEXTS = new Set([25, 1043]);

function rowOf(
  { names, readers, empty }: Layout,
  texts: readonly (string | null)[],
): QueryResultRow {
  const row: QueryResultRow = { ...empty };
  for (let place = 0; place < texts.length; place++) {
    const text = texts[place] ?? null;
    const read = readers[place];
    row[names[place] ?? ''] = text !== null && read ? read(text) : text;
  }
  return row;
}

const parameterOf = (value: unknown): unknown =>
  Array.isArray(value) ? (arrayLiteral(value) ?? value) : value;

const derive: (from: Connection, own: PropertyDescriptorMap) => Connection = Object.create;
const withoutDescribing = (connection: Connection): Connection =>
  derive(connection, { describe: { value: () => undefined } });

function memberOf<Value>(
  all: WeakMap<Connection, Value>,
  connection: Connection,
  make: (connection: Connection) => Value,
): Value {
  const found = all.get(connection) ?? make(connection);
  all.set(connection, found);
  return found;
}
