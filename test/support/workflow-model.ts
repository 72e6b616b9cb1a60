/**
 * Random workflows, and how each must end: the rules of the engine once more, written as definitions
 * over a finished workflow, so that they share nothing with the engine that leads one there.
 */
import fc from 'fast-check';

import type { EdgeKind } from '../../src/workflows/workflow-rows.service.js';

/** How the run of a node ends if it has one; `missing`: its template is gone. */
export type Ending = 'successful' | 'failed' | 'error' | 'canceled' | 'missing';

export interface PlannedNode {
  ending: Ending;
  mustConverge: boolean;
  /** Places of parents, which stand before their children. */
  parents: { place: number; kind: EdgeKind }[];
}

export interface WorkflowEnd {
  outcomes: (Ending | 'skipped')[];
  status: 'successful' | 'failed';
}

const BAD = ['failed', 'error', 'canceled', 'missing'];
const HOLDS: Record<EdgeKind, readonly string[]> = {
  success: ['successful'],
  failure: BAD,
  always: ['successful', ...BAD],
};

/** How a workflow ends that nobody cancels. */
export function endOf(nodes: readonly PlannedNode[]): WorkflowEnd {
  const outcomes: WorkflowEnd['outcomes'] = [];
  for (const { ending, mustConverge, parents } of nodes) {
    const holding = parents.filter(({ place, kind }) => HOLDS[kind].includes(outcomes[place]!));
    const wanted = mustConverge ? parents.length : Math.min(parents.length, 1);
    outcomes.push(holding.length >= wanted ? ending : 'skipped');
  }
  const isHandled = (place: number): boolean =>
    nodes.some(({ parents }) =>
      parents.some((edge) => edge.place === place && edge.kind !== 'success'),
    );
  const isBroken = outcomes.some((outcome, place) => BAD.includes(outcome) && !isHandled(place));
  return { outcomes, status: isBroken ? 'failed' : 'successful' };
}

const kinds: readonly EdgeKind[] = ['success', 'failure', 'always'];

/** A workflow of up to `most` nodes; about a third of the possible edges are there. */
export const workflows = (most: number): fc.Arbitrary<PlannedNode[]> =>
  fc.integer({ min: 1, max: most }).chain((count) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, place) =>
        fc.record({
          // Most runs go well, or nothing would follow the first nodes.
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
