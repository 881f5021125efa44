import type { ImportSummary } from '../users/import.ts'
import type { LineResult } from '../users/import-batch.ts'

/** How many refused lines are told of by themselves. */
const TOLD_LINES = 20

export const plural = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

/** Why a line was refused, for people. */
const reasonOf = ({ line, fields, message }: Extract<LineResult, { status: 'error' }>): string =>
  `line ${line}: ${fields.map(({ field, description }) => `${field || 'it'} ${description}`).join(', ') || message}`

/** Counts what became of lines, and keeps the first of those that were refused. */
export function createTally() {
  const summary: ImportSummary['summary'] = { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
  const refused: string[] = []
  return {
    summary,
    add(lines: readonly (LineResult | ImportSummary)[]): void {
      for (const line of lines) {
        if ('summary' in line) continue
        summary.lastLine = line.line
        summary[line.status === 'error' ? 'failed' : line.status]++
        if (line.status === 'error' && refused.length < TOLD_LINES) refused.push(reasonOf(line))
      }
    },
    progress: () => `${plural(summary.lastLine, 'line')}, ${summary.failed.toLocaleString('en')} refused`,
    /** How to go on with the lines that have no result. */
    onward: () =>
      summary.lastLine === 0
        ? 'Stopped before the first line.'
        : `Stopped behind line ${summary.lastLine}. To go on, add --start-line ${summary.lastLine + 1}.`,
    refusals(): string[] {
      const more = summary.failed - refused.length
      return more > 0 ? [...refused, `and ${plural(more, 'line')} more; --results FILE keeps all`] : refused
    },
    text(): string {
      const { created, updated, unchanged, failed } = summary
      const users = plural(created + updated + unchanged, 'user')
      return `Imported ${users}: ${created} created, ${updated} changed, ${unchanged} unchanged; ${plural(failed, 'line')} refused.`
    },
  }
}
