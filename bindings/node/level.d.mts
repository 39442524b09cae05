export * from './level.js';
