/**
 * Random workflows and their expected ends. The rules of the engine are repeated as definitions over a
 * finished workflow, so that they share nothing with the engine that executes one.
 */
import fc from 'fast-check';

import type { EdgeKind } from '../../src/workflows/workflow-rows.service.js';

/** Status of the run of a node, if it has one; `missing`: its template was deleted. */
export type Ending = 'successful' | 'failed' | 'error' | 'canceled' | 'missing';

export interface PlannedNode {
  ending: Ending;
  mustConverge: boolean;
  /** Indexes of parents, which come before their children. */
  parents: { place: number; kind: EdgeKind }[];
}

export interface WorkflowEnd {
  outcomes: (Ending | 'skipped')[];
  status: 'successful' | 'failed';
}

const BAD = ['failed', 'error', 'canceled', 'missing'];
const FOLLOWED: Record<EdgeKind, readonly string[]> = {
  success: ['successful'],
  failure: BAD,
  always: ['successful', ...BAD],
};

/** Returns the end of a workflow without cancellation. */
export function endOf(nodes: readonly PlannedNode[]): WorkflowEnd {
  const outcomes: WorkflowEnd['outcomes'] = [];
  for (const { ending, mustConverge, parents } of nodes) {
    const followed = parents.filter(({ place, kind }) => FOLLOWED[kind].includes(outcomes[place]!));
    const needed = mustConverge ? parents.length : Math.min(parents.length, 1);
    outcomes.push(followed.length >= needed ? ending : 'skipped');
  }
  const isHandled = (place: number): boolean =>
    nodes.some(({ parents }) =>
      parents.some((edge) => edge.place === place && edge.kind !== 'success'),
    );
  const isBroken = outcomes.some((outcome, place) => BAD.includes(outcome) && !isHandled(place));
  return { outcomes, status: isBroken ? 'failed' : 'successful' };
}

const kinds: readonly EdgeKind[] = ['success', 'failure', 'always'];

/** Generates a workflow of up to `most` nodes with about a third of the possible edges. */
export const workflows = (most: number): fc.Arbitrary<PlannedNode[]> =>
  fc.integer({ min: 1, max: most }).chain((count) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, place) =>
        fc.record({
          // Most runs are successful. Otherwise no node after the first ones would run.
          ending: fc.oneof(
            { weight: 6, arbitrary: fc.constant<Ending>('successful') },
            { weight: 4, arbitrary: fc.constantFrom<Ending>('failed', 'error', 'canceled') },
            { weight: 1, arbitrary: fc.constant<Ending>('missing') },
          ),
          mustConverge: fc.boolean(),
          parents: fc
            .array(fc.constantFrom(null, null, ...kinds), { minLength: place, maxLength: place })
            .map((edges) =>
              edges.flatMap((kind, parent) => (kind ? [{ place: parent, kind }] : [])),
            ),
        }),
      ),
    ),
  );
