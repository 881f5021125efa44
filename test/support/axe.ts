import axe from 'axe-core'
import type { Page } from 'playwright-core'

type AxeResult = { violations: { id: string; nodes: { html: string }[] }[]; passes: unknown[] }
type AxeOptions = { rules?: Record<string, { enabled: boolean }>; resultTypes?: string[] }

/** What axe finds on a page: rules with elements, and how many rules it has applied without a finding. */
export async function runAxe(
  page: Page,
  options: AxeOptions = {},
): Promise<{ violations: [rule: string, elements: string[]][]; passed: number }> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(
    async (given) => {
      const { axe } = globalThis as unknown as { axe: { run: (options: AxeOptions) => Promise<AxeResult> } }
      const { violations, passes } = await axe.run(given)
      const found = violations.map(
        ({ id, nodes }) => [id, nodes.map(({ html }) => html)] as [string, string[]],
      )
      return { violations: found, passed: passes.length }
      // The elements of other results are not collected.
    },
    { ...options, resultTypes: ['violations'] },
  )
}
