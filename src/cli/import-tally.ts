import type { ImportSummary } from '../users/transfer/import.ts'
import type { LineResult } from '../users/transfer/import-lines.ts'

/** How many rejected lines are reported individually. */
const MAX_REPORTED_LINES = 20

export const formatCount = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

/** Formats why a line was rejected. */
const formatLineError = ({ line, fields, message }: Extract<LineResult, { status: 'error' }>): string =>
  `line ${line}: ${fields.map(({ field, column, description }) => `${column ?? (field || 'it')} ${description}`).join(', ') || message}`

/** Counts the results of lines, and keeps the first rejected ones. */
export function createImportTally(isDryRun: boolean) {
  const summary: ImportSummary['summary'] = { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
  const rejected: string[] = []
  return {
    summary,
    add(lines: readonly (LineResult | ImportSummary)[]): void {
      for (const line of lines) {
        if ('summary' in line) continue
        summary.lastLine = line.line
        summary[line.status === 'error' ? 'failed' : line.status]++
        if (line.status === 'error' && rejected.length < MAX_REPORTED_LINES)
          rejected.push(formatLineError(line))
      }
    },
    progress: () =>
      `${formatCount(summary.lastLine, 'line')}, ${summary.failed.toLocaleString('en')} rejected`,
    /** How to continue after an interruption. */
    onward: () =>
      summary.lastLine === 0
        ? 'Stopped before the first line.'
        : `Stopped after line ${summary.lastLine}. To continue, add --start-line ${summary.lastLine + 1}.`,
    refusals(): string[] {
      const more = summary.failed - rejected.length
      return more > 0
        ? [...rejected, `and ${formatCount(more, 'line')} more; --results FILE writes all of them`]
        : rejected
    },
    text(): string {
      const { created, updated, unchanged, failed } = summary
      const users = formatCount(created + updated + unchanged, 'user')
      return `${isDryRun ? 'Would import' : 'Imported'} ${users}: ${created} created, ${updated} changed, ${unchanged} unchanged; ${formatCount(failed, 'line')} rejected.`
    },
  }
}
