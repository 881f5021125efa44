import { Dialog } from '../parts/dialog.tsx'

const SHORTCUTS = [
  ['Ctrl K or ⌘ K', 'Find anything: a screen, an id, an address, a request'],
  ['/', 'Search in the screen'],
  ['↑ ↓ Page Up Page Down Home End', 'Move in a list'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close a dialog'],
  ['?', 'Show this list'],
] as const

/** The keys of the console. */
export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl className="facts">
      {SHORTCUTS.map(([keys, action]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{action}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
