import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

type AxeResult = { violations: { id: string; nodes: { html: string }[] }[]; passes: unknown[] }
type AxeOptions = { rules?: Record<string, { enabled: boolean }>; resultTypes?: string[]; preload?: boolean }

/** Half as long as the source that the package exports. */
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

/** What axe finds on a page: rules with elements, and how many rules it has applied without a finding. */
export async function runAxe(
  page: Page,
  options: AxeOptions = {},
): Promise<{ violations: [rule: string, elements: string[]][]; passed: number }> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(
    async (given) => {
      const { axe } = globalThis as unknown as { axe: { run: (options: AxeOptions) => Promise<AxeResult> } }
      const { violations, passes } = await axe.run(given)
      const found = violations.map(
        ({ id, nodes }) => [id, nodes.map(({ html }) => html)] as [string, string[]],
      )
      return { violations: found, passed: passes.length }
    },
    // The elements of other results are not collected. Rules for media and for style sheets that a file loads are not used.
    { ...options, resultTypes: ['violations'], preload: false },
  )
}
