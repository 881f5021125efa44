import { setFlagsFromString } from 'node:v8'

/**
 * Prepares V8's heap for a server. Call it once, before the program is loaded.
 *
 * - All objects are allocated in the young generation. V8 marks a literal whose objects survive two collections, such as
 *   those of the first requests, and would allocate its later objects as old ones, which only a collection of the whole
 *   heap frees.
 * - The young generation does not grow: the modules that are loaded survive its collections, which would make it
 *   sixteen times larger than an idle process needs.
 * See docs/decisions/0103.
 */
export function prepareHeap(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets the young generation grow, as the load demands. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
