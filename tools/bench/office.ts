import { PageBrowser } from '../../test/support/page-browser.ts'
import type { Deployment } from './deployment.ts'
import type { Mailbox } from './mailbox.ts'
import { REDIRECT_URI, type Seed } from './seed.ts'

/** People behind one address who sign in, and the longest time that it may take. */
const PEOPLE = 500
const LIMIT_SECONDS = 600
/** People who act at the same time. */
const AT_ONCE = 25
/** Every tenth enters a wrong code first. */
const MISTAKES = 10
/** More requests than any limit. */
const FLOOD = 1000

type Visit = { browser: PageBrowser; html: string; path: string }

/** Runs `work` for each item, for some of them at the same time. */
async function forEachOf<Item>(items: Item[], work: (item: Item, index: number) => Promise<void>) {
  const rest = [...items.entries()]
  const run = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) await work(next[1], next[0])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, run))
}

/** The steps of a sign-in with their times in milliseconds; `rejected` counts the answers 429. */
function createSteps({ origin }: Deployment, { tenant, web }: Seed, mailbox: Mailbox) {
  const times: number[] = []
  const counts = { rejected: 0, signedIn: 0 }
  const query = new URLSearchParams({
    client_id: web.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
  })
  async function measure<Answer extends { response: Response }>(work: () => Promise<Answer>) {
    const started = performance.now()
    const answer = await work()
    times.push(performance.now() - started)
    if (answer.response.status === 429) counts.rejected += 1
    return answer
  }
  const submit = async ({ browser, ...page }: Visit, form: Record<string, string>) => {
    const { response, path, location } = await measure(() => browser.submit(page, form))
    return { browser, path, location, html: await response.text(), isLimited: response.status === 429 }
  }
  return {
    times,
    counts,
    request: async (address: string, browser = new PageBrowser(origin)) => {
      const { response, path } = await measure(() => browser.open(`/${tenant}/oidc/authorize?${query}`))
      return submit({ browser, path, html: await response.text() }, { step: 'email', address })
    },
    enter: async (page: Visit, address: string, isMistaken = false) => {
      const code = await mailbox.takeCode(address)
      const next = isMistaken ? await submit(page, { step: 'code', code: '000' }) : page
      const { location } = await submit(next, { step: 'code', code })
      if (/[?&]code=/.test(location ?? '')) counts.signedIn += 1
    },
    guess: (page: Visit) => submit(page, { step: 'code', code: '000' }),
  }
}

const percentile = (times: number[], part: number): string =>
  ([...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? 0).toFixed(0)

/**
 * Signs an office in behind one address: everyone requests a code before the first is entered. Afterwards, a
 * flooder and a guesser of the same network reach their limits, and people sign in again in their browsers.
 */
export async function measureOffice(
  deployment: Deployment,
  seed: Seed,
  mailbox: Mailbox,
): Promise<{ report: string; isWithin: boolean }> {
  const people = Array.from({ length: PEOPLE }, (_, index) => `p${index + 1}@example.com`)
  const office = createSteps(deployment, seed, mailbox)
  const visits = new Map<string, Visit>()
  const started = performance.now()
  await forEachOf(people, async (address) => {
    visits.set(address, await office.request(address))
  })
  await forEachOf(people, (address, index) =>
    office.enter(visits.get(address) as Visit, address, index % MISTAKES === 0),
  )
  const seconds = (performance.now() - started) / 1000

  const stranger = createSteps(deployment, seed, mailbox)
  let sent = 0
  let page: Visit | undefined
  for (; sent < FLOOD; sent += 1) {
    const answer = await stranger.request(`nobody${sent}@example.com`)
    if (answer.isLimited) break
    page = answer
  }
  let guesses = 0
  for (; page && guesses < FLOOD; guesses += 1) if ((await stranger.guess(page)).isLimited) break

  const again = createSteps(deployment, seed, mailbox)
  await forEachOf(people.slice(0, 100), async (address) => {
    const { browser } = visits.get(address) as Visit
    browser.forgetSessions()
    await again.enter(await again.request(address, browser), address)
  })
  const isWithin =
    office.counts.signedIn === PEOPLE &&
    office.counts.rejected === 0 &&
    seconds <= LIMIT_SECONDS &&
    sent <= 600 &&
    guesses <= 100 &&
    again.counts.signedIn === 100
  const report = [
    `${office.counts.signedIn} of ${PEOPLE} people behind one address signed in within ${seconds.toFixed(1)} s, ${office.counts.rejected} rejected`,
    `requests: p50 ${percentile(office.times, 0.5)} ms, p99 ${percentile(office.times, 0.99)} ms, ${AT_ONCE} at a time`,
    `a flooder of the same network: ${sent} codes, a guesser: ${guesses} wrong codes, then 429`,
    `beyond both limits, ${again.counts.signedIn} of 100 people signed in again in their browsers`,
  ].join('\n')
  return { report, isWithin }
}
