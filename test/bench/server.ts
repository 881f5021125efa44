// The program as it runs, in a process of its own, that also tells its parent how many statements it has sent.
import pg from 'pg'

let statements = 0
const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
const original = prototype.query
prototype.query = function (this: unknown, ...args: unknown[]) {
  statements += 1
  return original.apply(this, args)
}
process.on('message', () => process.send?.(statements))

// What `npm run build` made: the loader that runs the sources wraps every function.
await import(new URL('../../dist/main.js', import.meta.url).href)
