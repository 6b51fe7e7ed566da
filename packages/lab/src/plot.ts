/**
 * Plots results as curves against the number of nodes. If all results have the same number of nodes, plots
 * them against the loss instead.
 */
import type { Chart, Point, Series } from './chart.js';
import type { Judged, Result } from './experiment.js';

const panels = [
  { measure: 'messages', title: 'Messages', label: 'messages' },
  { measure: 'time', title: 'Time to agreement', label: 'ms' },
] as const;

export function chartsOfResults(results: readonly Result[]): Chart[] {
  const isOverNodes = new Set(results.map(({ conditions }) => conditions.nodes)).size > 1;
  const x = isOverNodes ? { label: 'nodes', isLog: true } : { label: 'loss', isLog: false };
  return panels.map(({ measure, title, label }) => {
    const series = seriesOf(results, measure, isOverNodes).filter(({ points }) => points.length > 0);
    return { title, x, y: { label, isLog: true }, series };
  });
}

function seriesOf(results: readonly Result[], measure: string, isOverNodes: boolean): Series[] {
  const names = [...new Set(results.map((result) => nameOf(result, isOverNodes)))];
  return names.flatMap((name) => {
    const own = results.filter((result) => nameOf(result, isOverNodes) === name);
    const measured = own.flatMap((result) => pointOf(result, measure, isOverNodes));
    const theory = (kinds: readonly Judged['kind'][], what: string): Series[] => {
      const points = own.flatMap((result): Point[] => {
        const known = result.theory.find((one) => one.measure === measure && kinds.includes(one.kind));
        return known === undefined ? [] : [{ x: xOf(result, isOverNodes), y: known.expected }];
      });
      return points.length === 0 ? [] : [{ name: `${name}, ${what}`, points, kind: 'theory' }];
    };
    const exactly = theory(['exact', 'mean'], 'theory');
    const bounds = [...theory(['at most'], 'upper bound'), ...theory(['at least'], 'lower bound')];
    return [{ name, points: measured, kind: 'measured' }, ...(exactly.length > 0 ? exactly : bounds)];
  });
}

function pointOf(result: Result, measure: string, isOverNodes: boolean): Point[] {
  const summary = result.measures[measure];
  if (summary === undefined || summary.mean <= 0) return [];
  return [{ x: xOf(result, isOverNodes), y: summary.mean, ci: summary.ci ?? undefined }];
}

function xOf({ conditions }: Result, isOverNodes: boolean): number {
  return isOverNodes ? conditions.nodes : conditions.loss;
}

function nameOf({ algorithm, conditions }: Result, isOverNodes: boolean): string {
  const loss = isOverNodes && conditions.loss > 0 ? `, loss ${conditions.loss}` : '';
  const scenario = conditions.scenario === 'start' ? '' : `, ${conditions.scenario}`;
  return `${algorithm}${scenario}${loss}`;
}
