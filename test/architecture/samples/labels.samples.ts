import { labeled } from '../../../src/labels/label-links.js';
import * as labels from '../../../src/labels/labels.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

const LINK = labeled('job_template');

export default {
  repositories: [
    samplesOf(labels.LabelsRepository, {
      usable: [[[1], CALLER]],
      byName: [['nightly', 1]],
    }),
  ],
  fragments: [
    fragmentsOf(labels, {
      allLabels: { calls: [[]], inside: asQuery },
      attachedLabels: { calls: [[LINK, [1], 10]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
