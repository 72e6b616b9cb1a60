import { labelled } from '../../../src/labels/label-links.js';
import { LabelsRepository } from '../../../src/labels/labels.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

const LINK = labelled('job_template');

export default {
  repositories: [
    samplesOf(LabelsRepository, {
      byName: [['nightly', 1]],
      firstOn: [[LINK, [1], 10]],
      deleteUnused: [[1, [LINK]]],
    }),
  ],
  fragments: [],
} satisfies RoomSamples;
