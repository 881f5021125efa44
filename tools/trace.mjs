// NODE_OPTIONS='--import ./tools/trace.mjs' npm start
//
// Prints to standard error the text of each SQL statement when it is sent, without its values, and the functions that
// are generated for compiled queries and for the rows of statements. For development.
import pg from 'pg'

const print = (text) => process.stderr.write(`${new Date().toISOString().slice(11, -1)} ${text}\n`)

const { query } = pg.Client.prototype
pg.Client.prototype.query = function (...args) {
  const [statement] = args
  const text = typeof statement === 'string' ? statement : statement.text
  // The pool sends the empty statement to idle connections.
  if (text) print(text.replace(/\s+/g, ' ').trim())
  return query.apply(this, args)
}

/** The first parameter of the functions of `generateSelection` and `getRowReader`; libraries generate others. */
const GENERATED = ['helpers', 'parsers']

globalThis.Function = new Proxy(Function, {
  construct: (target, args) => {
    if (GENERATED.includes(args[0])) print(args.at(-1))
    return Reflect.construct(target, args)
  },
})
