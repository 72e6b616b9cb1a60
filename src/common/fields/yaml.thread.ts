import { performTasks } from '../thread.js';
import { readAllYaml } from './yaml-reader.js';

performTasks(readAllYaml);
