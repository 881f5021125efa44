// npm run bench [-- --seconds 10 --users 10000 --large 1000000 --only userinfo --profile DIR]
//
// Measures throughput, latency, CPU of the server, round trips and WAL for each operation, and compares lists
// of a tenant of 1,000 users with those of a large tenant. --only lists measures the lists only, --large 0
// omits them. --profile also writes a CPU profile of the server. --only neighbors compares authorize at a quiet
// tenant with the same while a tenant of --flooded users is flooded. --only office signs 500 people in behind
// one address. --only drain sends --events events of a log to a webhook. --only floors measures each operation in --rounds turns with a server that does only what the operation
// must, and compares the ratios with baseline.json, which --write-baseline replaces. --only tenants compares requests to
// --tenants tenants with requests to one.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { deploy } from './deployment.ts'
import { measureDrain } from './drain.ts'
import { compareFloors } from './floors.ts'
import { compareLists } from './lists.ts'
import { startMailbox } from './mailbox.ts'
import { type Measurement, measure, toTable } from './measure.ts'
import { compareNeighbors } from './neighbors.ts'
import { measureOffice } from './office.ts'
import { scenariosFor } from './scenarios.ts'
import { seed } from './seed.ts'
import { compareStalls } from './stalls.ts'
import { compareTenants } from './tenants.ts'

/** The load before a measurement, which compiles the code of the server. */
const WARM_UP = { seconds: 2, amount: 2000 }
/** The load of one operation in a round of the comparison with the floor. */
const FLOOR_SECONDS = 2

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    users: { type: 'string', default: '10000' },
    large: { type: 'string', default: '1000000' },
    flooded: { type: 'string', default: '100000' },
    only: { type: 'string', default: '' },
    events: { type: 'string', default: '100000' },
    tenants: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    'write-baseline': { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})

const mailbox = await startMailbox()
const deployment = await deploy(mailbox.url, values.profile)
try {
  const { rows } = await deployment.db.query('SHOW server_version')
  process.stdout.write(
    `Node ${process.version}, PostgreSQL ${rows[0].server_version}, ${cpus().length} cores shared by load, server and database, ${values.users} users\n\n`,
  )
  const seeded = await seed(deployment, Number(values.users))
  const scenarios = await scenariosFor(deployment, seeded)
  const measurements: Measurement[] = []
  for (const scenario of scenarios.filter(({ name }) => name.includes(values.only))) {
    await measure(deployment, { ...scenario, amount: scenario.amount && WARM_UP.amount }, WARM_UP.seconds)
    measurements.push(await measure(deployment, scenario, Number(values.seconds)))
  }
  if (measurements.length > 0) process.stdout.write(`${toTable(measurements)}\n\n`)
  if ('floors'.includes(values.only)) {
    const { table, isWithin } = await compareFloors(deployment, seeded, scenarios, {
      rounds: Number(values.rounds),
      seconds: FLOOR_SECONDS,
      writesBaseline: values['write-baseline'],
    })
    process.stdout.write(`${table}\n\n`)
    if (!isWithin) process.exitCode = 1
  }
  const tenants = Number(values.tenants)
  if (tenants > 0 && 'tenants'.includes(values.only)) {
    const load = { rounds: Number(values.rounds), seconds: FLOOR_SECONDS }
    const { table, isWithin } = await compareTenants(deployment, seeded, tenants, load)
    process.stdout.write(
      `a request to ${tenants} tenants ÷ a request to one, CPU of the server\n${table}\n\n`,
    )
    if (!isWithin) process.exitCode = 1
  }
  const large = Number(values.large)
  if (large > 0 && 'lists'.includes(values.only))
    process.stdout.write(`${await compareLists(deployment, large, Number(values.seconds))}\n`)
  if ('stalls'.includes(values.only)) {
    const { table, isWithin } = await compareStalls(deployment, seeded.tenant, seeded.token)
    process.stdout.write(`longest delay of the event loop by one request\n${table}\n\n`)
    if (!isWithin) process.exitCode = 1
  }
  if ('office'.includes(values.only)) {
    const { report, isWithin } = await measureOffice(deployment, seeded, mailbox)
    process.stdout.write(`${report}\n\n`)
    if (!isWithin) process.exitCode = 1
  }
  const events = Number(values.events)
  if (events > 0 && 'drain'.includes(values.only)) {
    const { report, isWithin } = await measureDrain(deployment, seeded, events)
    process.stdout.write(`${report}\n\n`)
    if (!isWithin) process.exitCode = 1
  }
  const flooded = Number(values.flooded)
  if (flooded > 0 && 'neighbors'.includes(values.only)) {
    const { isWithin } = await compareNeighbors(deployment, seeded, flooded, Number(values.seconds))
    if (!isWithin) process.exitCode = 1
  }
  if (measurements.some(({ failures }) => failures > 0)) process.exitCode = 1
} finally {
  await deployment.stop()
  mailbox.stop()
}
