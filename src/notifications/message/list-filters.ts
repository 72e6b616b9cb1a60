import { sizeOf, type Filter, type FilterArguments } from './filter-arguments.js';
import {
  jinjaEntriesOf,
  isJinjaList,
  isMissing,
  isNone,
  numberOf,
  reprOf,
  requireLength,
  jinjaTextOf,
  type ValueFactory,
} from './jinja-values.js';
import type { EngineValue } from './sandbox-task.js';
import { append } from '../../common/records.js';

/** Filters of Jinja 3.1 for lists and dictionaries. */
export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  length: (value, _args, make) => make.integer(lengthOf(value, make)),
  count: (value, _args, make) => make.integer(lengthOf(value, make)),
  list: (value, _args, make) => make.list(itemsOf(value, make)),
  first: (value, _args, make) => itemAt(value, 0, make),
  last: (value, _args, make) => itemAt(value, -1, make),
  reverse: (value, _args, make) =>
    typeof value.value === 'string'
      ? make.text([...value.value].toReversed().join(''))
      : make.list(itemsOf(value, make).toReversed()),
  join: (value, args, make) => {
    const items = attributesOf(itemsOf(value, make), args.value(1, 'attribute'), make);
    const separator = args.text(0, 'd', '');
    let length = 0;
    const texts = items.map((item, index) => {
      const text = jinjaTextOf(item);
      requireLength((length += text.length + (index && separator.length)));
      return text;
    });
    return make.text(texts.join(separator));
  },
  sum: (value, args, make) => {
    const items = attributesOf(itemsOf(value, make), args.value(0, 'attribute'), make);
    const start = args.value(1, 'start') ?? make.integer(0);
    return items.reduce((total, item) => added(total, item, make), start);
  },
  max: (value, args, make) => extreme(value, args, make, 1),
  min: (value, args, make) => extreme(value, args, make, -1),
  unique: (value, args, make) => {
    const key = keyOf(args.flag(0, 'case_sensitive'), args.value(1, 'attribute'), make);
    const keys = new Set<unknown>();
    const isNew = (item: EngineValue): boolean => {
      // `make.text` counts the length of the text as steps.
      const text = make.text(reprOf(key(item))).value;
      return !keys.has(text) && Boolean(keys.add(text));
    };
    return make.list(itemsOf(value, make).filter(isNew));
  },
  items: (value, _args, make) => make.list(pairsOf(value, make)),
  dictsort: (value, args, make) => {
    const index = args.text(1, 'by', 'key') === 'value' ? 1 : 0;
    const fold = keyOf(args.flag(0, 'case_sensitive'), undefined, make);
    const pairs = pairsOf(value, make).map((pair) => ({ pair, key: fold(partOf(pair, index)) }));
    pairs.sort((a, b) => compared(a.key, b.key));
    const sorted = pairs.map(({ pair }) => pair);
    return make.list(args.flag(2, 'reverse') ? sorted.reverse() : sorted);
  },
  groupby: (value, args, make) => {
    const attribute = args.value(0, 'attribute');
    const key = keyOf(args.flag(2, 'case_sensitive'), attribute, make);
    const items = itemsOf(value, make).map((item) => ({ item, key: key(item) }));
    items.sort((a, b) => compared(a.key, b.key));
    const groups = new Map<unknown, EngineValue[]>();
    for (const entry of items) append(groups, make.text(reprOf(entry.key)).value, entry.item);
    return make.list(
      [...groups.values()].map((members) => {
        const [name] = attributesOf(members.slice(0, 1), attribute, make);
        return make.tuple([name ?? make.missing(), make.list(members)]);
      }),
    );
  },
  batch: (value, args, make) => {
    const size = sizeOf(args.number(0, 'linecount', 0));
    const items = itemsOf(value, make);
    const fill = args.value(1, 'fill_with');
    const rows = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => {
      const row = items.slice(index * size, (index + 1) * size);
      return fill ? [...row, ...Array<EngineValue>(size - row.length).fill(fill)] : row;
    });
    return make.list(rows.map(make.list));
  },
  slice: (value, args, make) => {
    const count = sizeOf(args.number(0, 'slices', 0));
    const items = itemsOf(value, make);
    const fill = args.value(1, 'fill_with');
    const [size, longer] = [Math.floor(items.length / count), items.length % count];
    let from = 0;
    const columns = Array.from({ length: count }, (_, index) => {
      const column = items.slice(from, (from += size + (index < longer ? 1 : 0)));
      return fill && index >= longer && longer > 0 ? [...column, fill] : column;
    });
    return make.list(columns.map(make.list));
  },
};

function added(total: EngineValue, item: EngineValue, make: ValueFactory): EngineValue {
  const sum = numberOf(total) + numberOf(item);
  return [total, item].some(({ type }) => type === 'FloatValue')
    ? make.float(sum)
    : make.integer(sum);
}

function itemAt(value: EngineValue, index: number, make: ValueFactory): EngineValue {
  if (typeof value.value !== 'string') return itemsOf(value, make).at(index) ?? make.missing();
  const character = [...value.value].at(index);
  return character === undefined ? make.missing() : make.text(character);
}

/**
 * Returns the length. Creates no values for the characters of a text, because each would count as a
 * step.
 */
const lengthOf = (value: EngineValue, make: ValueFactory): number =>
  typeof value.value === 'string' ? [...value.value].length : itemsOf(value, make).length;

/**
 * Returns the items of a list, the characters of a text or the keys of a dictionary.
 *
 * @throws Error for other values
 */
function itemsOf(value: EngineValue, make: ValueFactory): EngineValue[] {
  if (isJinjaList(value.value)) return [...value.value];
  if (typeof value.value === 'string') return Array.from(value.value, make.text);
  const entries = jinjaEntriesOf(value);
  if (entries) return entries.map(([key]) => make.text(key));
  if (isMissing(value)) return [];
  throw new Error(`${reprOf(value)} has no items`);
}

function pairsOf(value: EngineValue, make: ValueFactory): EngineValue[] {
  if (isMissing(value)) return [];
  const entries = jinjaEntriesOf(value);
  if (!entries) throw new Error('Can only get item pairs from a mapping.');
  return entries.map(([key, item]) => make.tuple([make.text(key), item]));
}

function partOf(pair: EngineValue, index: number): EngineValue {
  const part = isJinjaList(pair.value) ? pair.value[index] : undefined;
  if (!part) throw new Error(`${reprOf(pair)} is not a pair`);
  return part;
}

/**
 * Returns the value at a path such as `summary_fields.name` of each item; without a path, the items
 * themselves.
 */
function attributesOf(
  items: readonly EngineValue[],
  attribute: EngineValue | undefined,
  make: ValueFactory,
): EngineValue[] {
  if (!attribute || isNone(attribute)) return [...items];
  const path = jinjaTextOf(attribute).split('.');
  return items.map((item) =>
    path.reduce((value, key) => memberOf(value, key) ?? make.missing(), item),
  );
}

function memberOf(value: EngineValue, key: string): EngineValue | undefined {
  if (isJinjaList(value.value)) return value.value.at(Number(key));
  return jinjaEntriesOf(value)?.find(([name]) => name === key)?.[1];
}

/** Returns a function that returns the sort key of an item: by default, texts in lower case. */
function keyOf(
  isCaseSensitive: boolean,
  attribute: EngineValue | undefined,
  make: ValueFactory,
): (item: EngineValue) => EngineValue {
  return (item) => {
    const [value = item] = attributesOf([item], attribute, make);
    if (isCaseSensitive || typeof value.value !== 'string') return value;
    return make.text(value.value.toLowerCase());
  };
}

function compared(left: EngineValue, right: EngineValue): number {
  if (typeof left.value === 'string' && typeof right.value === 'string') {
    return left.value < right.value ? -1 : Number(left.value > right.value);
  }
  return numberOf(left) - numberOf(right);
}

function extreme(
  value: EngineValue,
  args: FilterArguments,
  make: ValueFactory,
  direction: 1 | -1,
): EngineValue {
  const key = keyOf(args.flag(0, 'case_sensitive'), args.value(1, 'attribute'), make);
  const [first, ...rest] = itemsOf(value, make);
  if (!first) return make.missing();
  return rest.reduce(
    (best, item) => (compared(key(item), key(best)) * direction > 0 ? item : best),
    first,
  );
}
