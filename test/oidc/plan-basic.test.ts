import { describeBasicModules } from './plan-modules.ts'

describeBasicModules('query')
