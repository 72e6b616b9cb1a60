export { PACKAGE_FOLDER, VERSION } from '../config/version.js';
