// npm run bench [-- --seconds 10 --users 10000 --large 1000000 --only userinfo --profile DIR]: throughput, latency, server
// CPU, round trips and WAL per operation; lists of a tenant of 1,000 users beside a large one (--only lists for these
// alone, --large 0 for none); with --profile, a CPU profile of the server as well.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { deploy } from './deployment.ts'
import { compareLists } from './lists.ts'
import { type Measurement, measure, toTable } from './measure.ts'
import { scenariosFor } from './scenarios.ts'
import { seed } from './seed.ts'

/** By then the server's code is compiled. */
const WARM_UP = { seconds: 2, amount: 2000 }

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    users: { type: 'string', default: '10000' },
    large: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
  },
})

const deployment = await deploy(values.profile)
try {
  const { rows } = await deployment.db.query('SHOW server_version')
  process.stdout.write(
    `Node ${process.version}, PostgreSQL ${rows[0].server_version}, ${cpus().length} cores shared by load, server and database, ${values.users} users\n\n`,
  )
  const scenarios = await scenariosFor(deployment, await seed(deployment, Number(values.users)))
  const measurements: Measurement[] = []
  for (const scenario of scenarios.filter(({ name }) => name.includes(values.only))) {
    await measure(deployment, { ...scenario, amount: scenario.amount && WARM_UP.amount }, WARM_UP.seconds)
    measurements.push(await measure(deployment, scenario, Number(values.seconds)))
  }
  if (measurements.length > 0) process.stdout.write(`${toTable(measurements)}\n\n`)
  const large = Number(values.large)
  if (large > 0 && 'lists'.includes(values.only))
    process.stdout.write(`${await compareLists(deployment, large, Number(values.seconds))}\n`)
  if (measurements.some(({ failures }) => failures > 0)) process.exitCode = 1
} finally {
  await deployment.stop()
}
