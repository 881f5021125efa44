import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 allocate all objects in the young generation. V8 marks a literal whose objects survive two collections, such as
 * those of the first requests, and allocates its later objects as old ones, which only a collection of the whole heap
 * frees. Call it once, before functions are optimized.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
