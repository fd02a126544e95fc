// Package plot draws pictures as SVG: lines and steps over time, distributions,
// bars, and Gantt charts. Reports of the simulator and the dashboard share it, so that
// one thing looks the same in both.
//
// A picture is a value ([Chart], [CDF], [Bars], [Gantt]); [SVG] makes a file of it that
// stands alone, [Inline] a piece of a page that brings its style sheet itself ([CSS]), so
// that pages may forbid inline styles. What is promised of each:
//
//   - The same value gives the same bytes.
//   - Names may be hostile: all text is escaped, and control characters become visible.
//   - Nothing is told by colour alone: lines differ in dashes and markers, bars and boxes
//     in hatching or labels. Colours keep their contrast in light and in dark mode.
//   - The size is bounded however long the data are. Long series lose points, never
//     their highest and lowest; a Gantt chart says how many boxes it leaves out.
//   - Tooltips work without a script; data attributes hold what a script needs to read
//     values off under the pointer.
//
// What the numbers mean is the caller's affair; here they are seconds, counts and
// fractions.
package plot
